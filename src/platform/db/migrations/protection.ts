/**
 * Restricts access to the owner of the schema. Managed servers have roles for browsers and other programs, such as `anon` of Supabase, with
 * default privileges on every new object. This runs after each change of the schema, on everything that exists by then; tables that are
 * created while the service runs go through `protect_table`.
 *
 * Row security without a policy shows rows to the owner alone, who is not bound by it. It does not cover `truncate`, so privileges are
 * revoked as well.
 */
export const PROTECTION = [
  // From public and from all roles but the owner.
  `create or replace function revoke_all(kind text, named text, owner oid, privileges aclitem[]) returns void language plpgsql as $$
  declare
    grantee text;
  begin
    for grantee in
      select distinct case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end
      from aclexplode(privileges) a where a.grantee <> owner
    loop
      execute format('revoke all on %s %s from %s cascade', kind, named, grantee);
    end loop;
  end $$`,

  `create or replace function protect_table(named regclass) returns void language plpgsql as $$
  begin
    execute format('alter table %s enable row level security', named);
    perform revoke_all('table', named::text, c.relowner, c.relacl) from pg_class c where c.oid = named;
  end $$`,

  `do $$
  declare
    here regnamespace = current_schema()::regnamespace;
    named text;
  begin
    perform revoke_all('schema', n.nspname, n.nspowner, n.nspacl) from pg_namespace n where n.oid = here;
    perform protect_table(c.oid) from pg_class c where c.relnamespace = here and c.relkind in ('r', 'p');
    perform revoke_all('sequence', c.oid::regclass::text, c.relowner, c.relacl)
      from pg_class c where c.relnamespace = here and c.relkind = 'S';
    perform revoke_all('type', t.oid::regtype::text, t.typowner, coalesce(t.typacl, acldefault('T', t.typowner)))
      from pg_type t left join pg_class c on c.oid = t.typrelid
      where t.typnamespace = here and (t.typtype in ('d', 'e') or c.relkind = 'c');
    perform revoke_all('function', p.oid::regprocedure::text, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)))
      from pg_proc p where p.pronamespace = here;
    -- A function finds its own tables with any caller. The body of one with \`return\` is bound when it is made, and can be inlined.
    for named in
      select p.oid::regprocedure from pg_proc p where p.pronamespace = here and p.prosqlbody is null
    loop
      execute format('alter function %s set search_path = %s, pg_temp', named, here);
    end loop;
  end $$`,
];
