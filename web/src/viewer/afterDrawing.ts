import type { WebGLRenderer } from 'three';

/** Calls `then` as soon as the graphics processor has done all that it was given. */
export function afterDrawing(
  context: ReturnType<WebGLRenderer['getContext']>,
  then: () => void,
): void {
  const gl = context as WebGL2RenderingContext; // three.js uses no other
  const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.flush();
  const poll = (): void => {
    const waits = fence && !gl.isContextLost();
    if (waits && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) setTimeout(poll, 100);
    else then();
  };
  poll();
}
