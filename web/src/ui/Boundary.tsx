import { Component, type ReactNode } from 'react';
import { retryParts } from './part';

/** Keeps a failure of one part of the page from taking the rest with it. */
export class Boundary extends Component<
  { children: ReactNode; fallback: (error: unknown, again: () => void) => ReactNode },
  { failed: boolean; error: unknown }
> {
  override state: { failed: boolean; error: unknown } = { failed: false, error: null };

  static getDerivedStateFromError(error: unknown) {
    return { failed: true, error };
  }

  private readonly again = (): void => {
    retryParts();
    this.setState({ failed: false, error: null });
  };

  override render() {
    const { failed, error } = this.state;
    return failed ? this.props.fallback(error, this.again) : this.props.children;
  }
}
