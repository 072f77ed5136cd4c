import { useEffect, useRef } from 'react';

/** Whether a component is still shown: what follows a slow act must not lead back to it. */
export function useIsOpen() {
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    // Also where someone goes back to another page meanwhile.
    return () => void (isOpen.current = false);
  }, []);
  return isOpen;
}
