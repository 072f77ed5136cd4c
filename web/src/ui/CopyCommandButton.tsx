import { texts } from '../texts';
import { toast } from './Toasts';

/** Offers what the page does as a command, for many or large files. */
export function CopyCommandButton({ command }: { command: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      toast(texts.commandCopied);
    } catch {
      toast(command); // the browser allows no access to the clipboard
    }
  };
  return (
    <button type="button" title={command} onClick={() => void copy()}>
      {texts.copyCommand}
    </button>
  );
}
