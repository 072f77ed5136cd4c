/** The pages of a list of the API, each requested when it is needed. */
export async function* pagesOf<T extends { NextToken?: string | null }>(
  read: (startingToken: string | undefined) => Promise<T>,
): AsyncGenerator<T> {
  let token: string | undefined;
  do {
    const page = await read(token);
    yield page;
    token = page.NextToken ?? undefined;
  } while (token);
}
