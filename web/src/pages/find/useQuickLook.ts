import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The place of the hit that a quick look shows. */
    quickLook?: number;
  }
}

/** The quick look is a step of the history: going back closes it, also from the asset it opened. */
export function useQuickLook() {
  const navigate = useNavigate({ from: '/' });
  const { history } = useRouter();
  const index = useRouterState({ select: ({ location }) => location.state.quickLook });
  const show = (place: number) =>
    void navigate({
      search: true,
      state: { quickLook: place },
      replace: index !== undefined,
      resetScroll: false,
    });
  return { index, show, close: () => history.back() };
}
