-- Database roles for a PostgreSQL server: one for each level of trust. Run it once as the owner of the database, after the first migration
-- (`psql -v broker_password=… -v desk_password=… -v audit_password=… -f roles.sql`), and again after every migration that adds a table.
--
--   sekisho_broker  reads and writes people, sessions and webhooks; cannot read tokens
--   sekisho_desk    reads and writes installation tokens; cannot read people
--   sekisho_audit   appends to the audit log and reads it; cannot change, delete or empty it, nor drop the trigger that refuses changes
--
-- All components run in one process in this version: grant its login (SEKISHO_DATABASE_URL) both roles with `GRANT sekisho_broker, sekisho_desk
-- TO …`; it writes the audit log as sekisho_audit (SEKISHO_AUDIT_DATABASE_URL). Migrations run as the owner of the database; the platform does not
-- connect as the owner.
\set ON_ERROR_STOP on

SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('sekisho_broker'), ('sekisho_desk'), ('sekisho_audit')) AS wanted(name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE sekisho_broker PASSWORD :'broker_password';
ALTER ROLE sekisho_desk PASSWORD :'desk_password';
ALTER ROLE sekisho_audit PASSWORD :'audit_password';

-- By default no role has any right.
REVOKE ALL ON SCHEMA broker, desk, audit FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA broker, desk, audit FROM PUBLIC, sekisho_broker, sekisho_desk, sekisho_audit;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

GRANT USAGE ON SCHEMA broker TO sekisho_broker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA broker TO sekisho_broker;

GRANT USAGE ON SCHEMA desk TO sekisho_desk;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA desk TO sekisho_desk;

GRANT USAGE ON SCHEMA audit TO sekisho_audit;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA audit TO sekisho_audit;

-- At start the platform checks which migrations are applied.
GRANT SELECT ON public._prisma_migrations TO sekisho_broker, sekisho_desk, sekisho_audit;
