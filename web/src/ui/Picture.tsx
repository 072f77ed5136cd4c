import { useQuery } from '@tanstack/react-query';
import { isRetryable } from '../api/errors';
import { dropPicture, pictureUrl, type PictureSource } from '../api/pictures';
import { texts } from '../texts';
import { previewUrl } from '../api/downloads';
import { useImageUrl } from './useImageUrl';

/** The picture of a file, or in words why there is none. It is beside its name: no other text. */
export function Picture({ picture, small }: { picture: PictureSource; small?: boolean }) {
  const { preview, previewMissing: missing, file } = picture;
  const signed = useQuery({
    queryKey: ['picture', file],
    queryFn: () => (file ? previewUrl(file, file.path) : ''),
    enabled: file !== undefined && !preview,
    staleTime: 30 * 60_000,
  });
  const urls = preview ? [pictureUrl(preview, small), pictureUrl(preview)] : [signed.data ?? ''];
  const { url, isLost, onImageError } = useImageUrl(urls);
  if (url) {
    return (
      <img
        src={url}
        alt=""
        width={256}
        height={256}
        decoding="async"
        draggable={false}
        onError={() => {
          if (preview) dropPicture(preview);
          onImageError(url);
        }}
      />
    );
  }
  if (signed.isLoading) return null;
  return (
    <span className="no-picture" title={missing?.message}>
      <svg viewBox="0 0 24 24" width="36" height="36" aria-hidden="true">
        <path
          d="M12 3 20 7.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.3"
          strokeLinejoin="round"
        />
      </svg>
      <span>{isLost || isRetryable(signed.error) ? texts.picture.lost : labelOf(missing)}</span>
    </span>
  );
}

function labelOf(missing: PictureSource['previewMissing']): string {
  switch (missing?.reason) {
    case 'inspecting':
      return texts.picture.pending;
    case 'refused':
      return texts.picture.refused;
    case 'notDistributable':
      return texts.picture.notDistributable;
    case 'quarantined':
      return texts.picture.quarantined;
    case 'notPermitted':
      return texts.picture.notPermitted;
    case 'archived':
      return texts.picture.archived;
    default:
      return texts.picture.none;
  }
}
