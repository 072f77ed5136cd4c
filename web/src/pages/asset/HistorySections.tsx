import { useSearch } from '@tanstack/react-router';
import { usePermissions } from '../../api/queries';
import type { Place } from '../../api/downloads';
import { runsTexts } from '../../texts/runs';
import { versionsTexts } from '../../texts/versions';
import { lazyComponent } from '../../ui/lazyComponent';
import { FoldedSection } from './FoldedSection';

const Versions = lazyComponent(() => import('./Versions'), 'Versions');
const Runs = lazyComponent(() => import('./Runs'), 'Runs');

/** What has become of an asset: its versions, and the workflows that ran on it. */
export function HistorySections(props: {
  place: Place;
  /** The file that is shown, which is shown in another version, too. */
  path: string | undefined;
  mayWrite: boolean;
}) {
  const { place, path, mayWrite } = props;
  const { show } = useSearch({ from: '/databases/$databaseId/assets/$assetId' });
  const mayRun = usePermissions().run && mayWrite;
  return (
    <>
      <FoldedSection title={versionsTexts.title}>
        <Versions place={place} path={path} mayWrite={mayWrite} />
      </FoldedSection>
      <FoldedSection title={runsTexts.title} isOpen={show === 'runs'}>
        <Runs place={place} mayRun={mayRun} />
      </FoldedSection>
    </>
  );
}
