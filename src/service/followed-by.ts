/** A part of the composition root: use cases that are followed by a call. */

type UseCase = (...request: never[]) => Promise<unknown>;

/** The same use cases; `then` is called at the end of each, whatever its outcome. */
export function followedBy<T extends object>(then: () => void, useCases: T): T {
  const follow =
    (useCase: UseCase): UseCase =>
    (...request) =>
      useCase(...request).finally(then);
  return Object.fromEntries(
    Object.entries(useCases).map(([name, useCase]: [string, UseCase]) => [name, follow(useCase)]),
  ) as T;
}
