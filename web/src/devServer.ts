/** The part of a request that Vite's server forwards. */
interface Forwarded {
  headers: { host?: string; origin?: string };
}

interface Sent {
  setHeader: (name: string, value: string) => unknown;
}

/**
 * Gives requests of the page on Vite's server the origin of the gateway.
 *
 * Others keep their own, which the gateway refuses.
 */
export const withOriginOf =
  (gateway: string) =>
  (sent: Sent, { headers }: Forwarded): void => {
    if (headers.origin === `http://${headers.host}`) sent.setHeader('origin', gateway);
  };
