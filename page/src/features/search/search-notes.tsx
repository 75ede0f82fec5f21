/** Shown between a search and its results: operators that can't be used, and customers to choose from. */
import { useNavigate } from '@tanstack/react-router';
import type { CustomerListing } from 'email-worker-client';
import { Building2 } from '../../ui/icons.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { withCustomer, type Search } from './search-language.ts';

export function SearchFaults({ search }: { readonly search: Search | null }) {
  const { text } = useWords();
  if (search === null || search.faults.length + search.unknown.length === 0) return null;
  return (
    <p className="search-faults" role="status">
      {[
        ...search.faults.map((fault) => text.search.fault(fault)),
        ...search.unknown.map((name) => text.search.unknown(`${name}:`)),
      ].join(' ')}
    </p>
  );
}

interface CustomerChoiceProps {
  readonly query: string;
  /** The part of the name that was typed. */
  readonly typed: string;
  readonly customers: readonly CustomerListing[];
}

export function CustomerChoice({ query, typed, customers }: CustomerChoiceProps) {
  const { text } = useWords();
  const navigate = useNavigate();
  if (customers.length === 0) return <Empty icon={Building2} title={text.search.noCustomer(typed)} />;
  const isNameOfOne = (name: string) => customers.filter((customer) => customer.name === name).length === 1;
  const choose = ({ customer_id: id, name }: CustomerListing): void => {
    const chosen = name !== null && isNameOfOne(name) && !name.includes('"') ? `"${name}"` : id;
    const q = withCustomer(query, typed, chosen);
    void navigate({ to: '/search', search: { q }, replace: true });
  };
  return (
    <div className="search-choice">
      <p>{text.search.whichCustomer}</p>
      <ul>
        {customers.map((customer) => (
          <li key={customer.customer_id}>
            <Button look="outline" onPress={() => choose(customer)}>
              {customer.name ?? customer.customer_id}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
