/** The folder of a request belongs to its route until a use case takes it over. */
import type { SpoolFolder } from '../../files/file-ports.ts';

/** Calls the use case that takes over the folder. */
type Begin = <Result>(useCase: () => Result) => Result;

/** Removes the folder when the work ends with an error before it begins. */
export async function orRemove<Result>(
  folder: SpoolFolder,
  work: (begin: Begin) => Promise<Result>,
): Promise<Result> {
  let isBegun = false;
  try {
    return await work((useCase) => {
      isBegun = true;
      return useCase();
    });
  } catch (error) {
    if (!isBegun) await folder.remove();
    throw error;
  }
}
