/** The list of a search: the threads that it finds, or the customers among whom the reader has to choose. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { customersQuery } from '../../api/queries.ts';
import { useWords } from '../../i18n/index.tsx';
import { searchFolder, type Folder } from '../folders/folder.ts';
import { readSearch } from './search-language.ts';

export function useSearchFolder(query: string): Folder {
  const { text } = useWords();
  const search = useMemo(() => readSearch(query), [query]);
  const { customer } = search;
  const { data: found } = useQuery({ ...customersQuery(customer ?? ''), enabled: customer !== null });
  if (customer === null) return searchFolder(query, search, text, null, true);
  if (found === undefined) return searchFolder(query, search, text, null, false);
  const wanted = customer.toLowerCase();
  const exact = found.filter(({ name }) => name?.toLowerCase() === wanted);
  const [one, ...others] = exact.length > 0 ? exact : found;
  if (one === undefined || others.length > 0) return searchFolder(query, search, text, found, false);
  const filter = { ...search.filter, customer_id: one.customer_id };
  return searchFolder(query, { ...search, filter }, text, null, true);
}
