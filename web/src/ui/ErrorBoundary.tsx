import { Component, type ReactNode } from 'react';
import { retryFailedChunks } from './lazyComponent';

/** Keeps a failure of one part of the page from taking the rest with it. */
export class ErrorBoundary extends Component<
  { children: ReactNode; fallback: (error: unknown, retry: () => void) => ReactNode },
  { failed: boolean; error: unknown }
> {
  override state: { failed: boolean; error: unknown } = { failed: false, error: null };

  static getDerivedStateFromError(error: unknown) {
    return { failed: true, error };
  }

  private readonly retry = (): void => {
    retryFailedChunks();
    this.setState({ failed: false, error: null });
  };

  override render() {
    const { failed, error } = this.state;
    return failed ? this.props.fallback(error, this.retry) : this.props.children;
  }
}
