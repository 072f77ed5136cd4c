import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { errorText } from '../../api/errors';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { formatBytes, formatDateTime, visibleName } from '../../texts/formats';
import { versionsTexts } from '../../texts/versions';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { toast } from '../../ui/Toasts';
import { fileName } from '../../ui/fileKinds';
import { saveDownload } from './AssetButtons';
import { invalidateVersions } from './invalidateVersions';
import { fileVersionsQuery, revertFile, type FileVersionItem } from './versionQueries';

const words = versionsTexts;

export interface FileVersionsProps {
  place: Place;
  path: string;
  mayWrite: boolean;
  onClose: () => void;
}

/** The contents that a file had: to look at, to save, and to give to it again. */
export function FileVersionsDialog(props: FileVersionsProps) {
  const { place, path, onClose } = props;
  const query = useQuery(fileVersionsQuery(place, path));
  const cache = useQueryClient();
  const [state, setState] = useState({ busy: false, failure: '' });
  const revert = async (versionId: string) => {
    setState({ busy: true, failure: '' });
    try {
      await revertFile(place, path, versionId);
      toast(words.fileReverted);
      setState({ busy: false, failure: '' });
    } catch (error) {
      setState({ busy: false, failure: errorText(error) });
    }
    invalidateVersions(cache, place);
  };
  return (
    <Dialog title={words.ofFile(visibleName(fileName(path)))} onClose={onClose}>
      {query.isPending && <p role="status">{texts.loading}</p>}
      <InlineError query={query} />
      <ol className="timeline">
        {query.data?.map((version) => (
          <li key={version.versionId}>
            <Content version={version} />
            {!version.isArchived && (
              <div className="acts">
                <Link
                  to="/databases/$databaseId/assets/$assetId"
                  params={place}
                  search={{
                    file: path,
                    content: version.isLatest ? undefined : version.versionId,
                  }}
                  className="button small"
                  onClick={onClose}
                  preload={false}
                >
                  {words.show}
                </Link>
                <button
                  type="button"
                  className="small"
                  onClick={() => void saveDownload(place, path, version)}
                >
                  {texts.download}
                </button>
                {props.mayWrite && !version.isLatest && (
                  <button
                    type="button"
                    className="small"
                    disabled={state.busy}
                    onClick={() => void revert(version.versionId)}
                  >
                    {words.revert}
                  </button>
                )}
              </div>
            )}
          </li>
        ))}
      </ol>
      <p className="failure" role="alert">
        {state.failure}
      </p>
      <div className="acts">
        <CloseButton text={texts.close} first />
      </div>
    </Dialog>
  );
}

function Content({ version }: { version: FileVersionItem }) {
  const labels = version.assetVersionIds.map(({ label }) => visibleName(label));
  return (
    <p>
      {formatDateTime(version.lastModified)}{' '}
      {version.isLatest && <span className="tag">{words.newestContent}</span>}
      {version.isArchived && <span className="tag">{words.archived}</span>}
      <span className="faint">
        {' '}
        {!version.isArchived && formatBytes(version.size)}{' '}
        {labels.length > 0 && words.inVersions(labels)}
      </span>
    </p>
  );
}
