-- What the audit log says of a token is kept with it, for the record of its end: whose grant it was, by which rule, who asked from which pod.
-- The SHA-256 of a token, in the form of GitHub's audit log, identifies it and opens nothing.
ALTER TABLE "desk"."tokens"
    ADD COLUMN "facts" JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN "hashed_token" TEXT,
    ADD COLUMN "ending_at" TIMESTAMPTZ(3);

-- By what an entry of the log is found: repositories, users, grants and other objects by their UIDs. Computed by the database itself from
-- columns that the hash covers, so it cannot say something else than the log does, and no process has to keep it. PL/pgSQL keeps its plans,
-- which a function in SQL makes anew for each entry. src/store/audit/audit-keys.ts spells the same keys for queries.
CREATE FUNCTION "audit"."keys_of"("actor" TEXT, "details" JSONB) RETURNS TEXT[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    keys TEXT[] := ARRAY['user:' || $1, 'user:' || ($2 ->> 'person'), 'user:' || ($2 ->> 'doer'),
                         'uid:' || coalesce(nullif($2 ->> 'grantUid', ''), $2 ->> 'uid'), 'repository:' || ($2 ->> 'repositoryId')];
BEGIN
    IF jsonb_typeof($2 -> 'repositoryIds') = 'array' THEN
        keys := keys || ARRAY(SELECT 'repository:' || id FROM jsonb_array_elements_text($2 -> 'repositoryIds') AS id);
    ELSIF jsonb_typeof($2 -> 'repositories') = 'array' THEN
        keys := keys || ARRAY(SELECT 'repository:' || (one ->> 'id') FROM jsonb_array_elements($2 -> 'repositories') AS one);
    END IF;
    RETURN array_remove(keys, NULL);
END
$$;
CREATE INDEX "entries_keys_idx" ON "audit"."entries" USING GIN (audit.keys_of(actor, details));
-- Entries are nearly in the order of their times, so a few bytes for many of them find an interval.
CREATE INDEX "entries_at_idx" ON "audit"."entries" USING BRIN ("at");
-- One entry for each token: the others of it are found by its grant.
CREATE INDEX "entries_hashed_token_idx" ON "audit"."entries" ((details ->> 'hashedToken')) WHERE "action" = 'token.minted';
