import { useState } from 'react';
import type { File } from '../../api/assets';
import type { Place } from '../../api/downloads';
import { assetTexts } from '../../texts/asset';
import { filesTexts } from '../../texts/files';
import { versionsTexts } from '../../texts/versions';
import { FileFacts } from './FileFacts';
import { FileVersions } from './FileVersions';

/** What is known about the file that is shown, with the way to its earlier contents. */
export function FactsSection(props: {
  place: Place;
  path: string;
  file: File | undefined;
  mayWrite: boolean;
}) {
  const { place, path, file, mayWrite } = props;
  const [open, setOpen] = useState(false);
  return (
    <section aria-labelledby="facts" className="facts">
      <div className="acts">
        <h2 id="facts">{assetTexts.facts}</h2>
        <button
          type="button"
          className="small quiet"
          aria-label={versionsTexts.fileVersions}
          onClick={() => setOpen(true)}
        >
          {filesTexts.versions}
        </button>
      </div>
      <FileFacts key={path} place={place} path={path} since={file?.dateCreatedCurrentVersion} />
      {open && (
        <FileVersions
          place={place}
          path={path}
          mayWrite={mayWrite}
          onClose={() => setOpen(false)}
        />
      )}
    </section>
  );
}
