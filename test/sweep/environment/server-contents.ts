// What a PostgreSQL server of tenants has, a line each: each environment compares it in the end, and by it a server is found
// to be as new.

/** Databases, roles and sessions. */
export const onServer = `
  SELECT format('database %s: %s, limit %s, open %s, %s', datname, shobj_description(oid, 'pg_database'), datconnlimit,
    datallowconn, (SELECT string_agg(item::text, ' ' ORDER BY item::text) FROM unnest(datacl) item)) AS line
    FROM pg_database WHERE datname <> 'template0'
  UNION ALL SELECT format('role %s: login %s, password %s, limit %s, %s, %s, of %s, %s', rolname, rolcanlogin,
    rolpassword IS NOT NULL, rolconnlimit,
    ARRAY(SELECT setconfig::text FROM pg_db_role_setting WHERE setrole = pg_authid.oid ORDER BY 1),
    ARRAY[rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolinherit],
    ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = pg_authid.oid ORDER BY 1),
    shobj_description(oid, 'pg_authid'))
    FROM pg_authid WHERE rolname !~ '^pg_' AND NOT (rolname = current_user)
  UNION ALL SELECT format('%s sessions of %s', count(*), usename) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND usename <> current_user GROUP BY usename`
/** Of one database. */
export const inDatabase = `
  SELECT format('schema %s of %s, %s', nspname, nspowner::regrole, nspacl) AS line FROM pg_namespace WHERE nspname !~ '^pg_'
  UNION ALL SELECT format('defaults for %s: %s %s', defaclrole::regrole, defaclobjtype, defaclacl) FROM pg_default_acl
  UNION ALL SELECT format('table %s of %s, %s', relname, relowner::regrole, relacl) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  UNION ALL SELECT format('function %s: %s', proname, proacl) FROM pg_proc WHERE proname ~ '^lo' AND proacl IS NOT NULL
  UNION ALL SELECT format('extension %s', extname) FROM pg_extension`
