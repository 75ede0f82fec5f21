/**
 * As the first part of a statement that changes several emails: locks them in one order. The join of an update takes its rows in the order
 * of its plan, so two statements over the same emails would wait for each other in a circle.
 *
 * @param condition of the emails `e`
 */
export const lockedEmails = (condition: string): string => `
  locked_emails as materialized (
    select e.id from emails e where ${condition} order by e.id for no key update
  )`;
