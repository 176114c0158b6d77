-- The oldest part of the audit log can be cut off, and only so: by "audit"."prune", for a cut that an entry of the log approves,
-- and when what is cut off is older than thirty days. Nobody gets a right to DELETE (docs/adr/0082-the-log-is-cut-at-a-signed-head.md).
CREATE OR REPLACE FUNCTION "audit"."refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD."sequence" <= NULLIF(current_setting('sekisho.pruned_through', true), '')::BIGINT THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

-- Entries about cuts are few: they are found without reading the log.
CREATE INDEX "entries_cuts_idx" ON "audit"."entries" ("sequence") WHERE "action" IN ('audit.prune-approved', 'audit.pruned');

-- Removes the entries up to "cut" at once or not at all, and returns how many. "approval" is the sequence of the entry that approves it.
CREATE FUNCTION "audit"."prune"("approval" BIGINT, "cut" BIGINT, "cut_hash" TEXT) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    "removed" BIGINT;
BEGIN
    IF NOT EXISTS (
        SELECT FROM "audit"."entries" AS "e" WHERE "e"."sequence" = "approval" AND "e"."sequence" > "cut"
            AND "e"."action" = 'audit.prune-approved' AND "e"."outcome" = 'allowed'
            AND "e"."details"->'cut' = jsonb_build_object('sequence', "cut", 'hash', "cut_hash")
    ) THEN
        RAISE EXCEPTION 'entry % does not approve that the audit log is cut after entry %', "approval", "cut" USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NOT EXISTS (
        SELECT FROM "audit"."entries" AS "e" WHERE "e"."sequence" = "cut" AND "e"."hash" = "cut_hash" AND "e"."at" < now() - interval '30 days'
    ) THEN
        RAISE EXCEPTION 'entry % is not in the audit log with that hash, or is younger than 30 days', "cut" USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM set_config('sekisho.pruned_through', "cut"::TEXT, true);
    DELETE FROM "audit"."entries" AS "e" WHERE "e"."sequence" <= "cut";
    GET DIAGNOSTICS "removed" = ROW_COUNT;
    PERFORM set_config('sekisho.pruned_through', '', true);
    RETURN "removed";
END
$$;
REVOKE ALL ON FUNCTION "audit"."prune"(BIGINT, BIGINT, TEXT) FROM PUBLIC;
