import { Component, type ReactNode } from 'react';

/** Keeps a failure of one part of the page from taking the rest with it. */
export class Boundary extends Component<
  { children: ReactNode; fallback: (error: unknown) => ReactNode },
  { failed: boolean; error: unknown }
> {
  override state: { failed: boolean; error: unknown } = { failed: false, error: null };

  static getDerivedStateFromError(error: unknown) {
    return { failed: true, error };
  }

  override render() {
    return this.state.failed ? this.props.fallback(this.state.error) : this.props.children;
  }
}
