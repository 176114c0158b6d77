-- Database roles for production: one for each level of trust. Run it once as the owner of the database, after the first migration
-- (`psql -v broker_password=… -v desk_password=… -v audit_password=… -f roles.sql`), and again after every migration that adds a table.
--
--   sekisho_broker  people, sessions, webhooks; nothing of tokens
--   sekisho_desk    installation tokens; nothing of people
--   sekisho_audit   may add to the log and read it; it cannot change, remove or empty it, nor take the trigger away that refuses it
--
-- Migrations run as the owner, which no process has at run time.
\set ON_ERROR_STOP on

SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('sekisho_broker'), ('sekisho_desk'), ('sekisho_audit')) AS wanted(name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE sekisho_broker PASSWORD :'broker_password';
ALTER ROLE sekisho_desk PASSWORD :'desk_password';
ALTER ROLE sekisho_audit PASSWORD :'audit_password';

-- Nobody has anything by default.
REVOKE ALL ON SCHEMA broker, desk, audit FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA broker, desk, audit FROM PUBLIC, sekisho_broker, sekisho_desk, sekisho_audit;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

GRANT USAGE ON SCHEMA broker TO sekisho_broker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA broker TO sekisho_broker;

GRANT USAGE ON SCHEMA desk TO sekisho_desk;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA desk TO sekisho_desk;

GRANT USAGE ON SCHEMA audit TO sekisho_audit;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA audit TO sekisho_audit;

-- At start every process looks which migrations are applied.
GRANT SELECT ON public._prisma_migrations TO sekisho_broker, sekisho_desk, sekisho_audit;
