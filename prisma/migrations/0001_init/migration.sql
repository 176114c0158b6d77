-- Four schemas: one for each level of trust, and one that broker and controllers share. Must say the same as prisma/schema.prisma.
CREATE SCHEMA IF NOT EXISTS "broker";
CREATE SCHEMA IF NOT EXISTS "desk";
CREATE SCHEMA IF NOT EXISTS "audit";
CREATE SCHEMA IF NOT EXISTS "builds";

-- The log: a row says who did what and why; its hash covers the whole row and the hash before it.
CREATE TABLE "audit"."entries" (
    "sequence" BIGINT NOT NULL CHECK ("sequence" > 0),
    "at" TIMESTAMPTZ(3) NOT NULL,
    "action" TEXT NOT NULL,
    "actor" TEXT NOT NULL CHECK ("actor" <> ''),
    "namespace" TEXT,
    "object" TEXT NOT NULL,
    "outcome" TEXT NOT NULL CHECK ("outcome" IN ('allowed', 'denied', 'failed')),
    "reason" TEXT NOT NULL,
    "details" JSONB NOT NULL,
    "previous_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    CONSTRAINT "entries_pkey" PRIMARY KEY ("sequence")
);
CREATE UNIQUE INDEX "entries_hash_key" ON "audit"."entries" ("hash");
CREATE INDEX "entries_namespace_sequence_idx" ON "audit"."entries" ("namespace", "sequence");

-- Append only for every role, the owner too, as long as the trigger stands. A role that may only INSERT and SELECT
-- (deploy/postgres/roles.sql) cannot take the trigger away.
CREATE FUNCTION "audit"."refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "append_only_rows" BEFORE UPDATE OR DELETE ON "audit"."entries"
    FOR EACH ROW EXECUTE FUNCTION "audit"."refuse_change"();
CREATE TRIGGER "append_only_table" BEFORE TRUNCATE ON "audit"."entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "audit"."refuse_change"();

-- Installation tokens from the intent to their end. `sealed_token` is set while the token may be alive, and never otherwise; a token that
-- expired keeps its row for the quota. A token is revoked at the API that it was minted at, also after its ClusterGitHubApp is gone; a
-- revocation that fails is retried later and later, and one that waits for the end of a suspension says so.
CREATE TABLE "desk"."tokens" (
    "id" UUID NOT NULL,
    "state" TEXT NOT NULL CHECK ("state" IN ('intended', 'minted', 'revoking', 'revoked', 'abandoned', 'expired')),
    "cache_key" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "app_id" BIGINT NOT NULL,
    "installation_id" BIGINT NOT NULL,
    "namespace" TEXT NOT NULL,
    "grant_uid" TEXT NOT NULL,
    "grant_name" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_name" TEXT NOT NULL,
    "subject_uid" TEXT NOT NULL,
    "requested_ids" BIGINT[] NOT NULL,
    "requested_permissions" JSONB NOT NULL,
    "repository_ids" BIGINT[] NOT NULL,
    "permissions" JSONB NOT NULL,
    "sealed_token" TEXT,
    "reason" TEXT,
    "intended_at" TIMESTAMPTZ(3) NOT NULL,
    "minted_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),
    "deliveries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "api" TEXT NOT NULL DEFAULT '',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMPTZ(3),
    "suspended" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "tokens_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "tokens_sealed_while_alive" CHECK (("state" IN ('minted', 'revoking')) = ("sealed_token" IS NOT NULL))
);
CREATE INDEX "tokens_cache_key_state_idx" ON "desk"."tokens" ("cache_key", "state");
CREATE INDEX "tokens_grant_uid_state_idx" ON "desk"."tokens" ("grant_uid", "state");
CREATE INDEX "tokens_host_app_id_installation_id_state_idx" ON "desk"."tokens" ("host", "app_id", "installation_id", "state");
CREATE INDEX "tokens_namespace_intended_at_idx" ON "desk"."tokens" ("namespace", "intended_at");
CREATE INDEX "tokens_state_expires_at_idx" ON "desk"."tokens" ("state", "expires_at");

-- Webhook deliveries: durable before the answer, handled once.
CREATE TABLE "broker"."deliveries" (
    "id" UUID NOT NULL,
    "host" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "action" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "body" BYTEA,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "claimable_at" TIMESTAMPTZ(3) NOT NULL,
    "handled_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "deliveries_host_delivery_id_key" ON "broker"."deliveries" ("host", "delivery_id");
CREATE INDEX "deliveries_handled_at_claimable_at_idx" ON "broker"."deliveries" ("handled_at", "claimable_at");
-- A delivery's body lives for seconds: compressing it costs more than storing it, and out of line it is not copied when a row is claimed.
ALTER TABLE "broker"."deliveries" ALTER COLUMN "body" SET STORAGE EXTERNAL;

-- One-use states of a sign-in, and sessions; both by the hash of their handle.
CREATE TABLE "broker"."login_states" (
    "handle_hash" TEXT NOT NULL,
    "sealed_data" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "login_states_pkey" PRIMARY KEY ("handle_hash")
);
CREATE INDEX "login_states_expires_at_idx" ON "broker"."login_states" ("expires_at");

CREATE TABLE "broker"."sessions" (
    "handle_hash" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "user_id" BIGINT NOT NULL,
    "login" TEXT NOT NULL,
    "sealed_data" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "sessions_pkey" PRIMARY KEY ("handle_hash")
);
CREATE INDEX "sessions_host_user_id_idx" ON "broker"."sessions" ("host", "user_id");
CREATE INDEX "sessions_expires_at_idx" ON "broker"."sessions" ("expires_at");

-- Intents of onboarding, so that a crash between proof and Installation is made good. A confirmed one has a state of its own, so that what
-- waits for people never hides what can go on.
CREATE TABLE "broker"."onboardings" (
    "id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "account_id" BIGINT NOT NULL,
    "installation_id" BIGINT,
    "user_id" BIGINT NOT NULL,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "onboardings_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "onboardings_state_created_at_idx" ON "broker"."onboardings" ("state", "created_at");
CREATE INDEX "onboardings_host_user_id_idx" ON "broker"."onboardings" ("host", "user_id");

-- What the OIDC provider keeps: codes, refresh tokens, grants, device codes; by the hash of their id, and by the person whom it belongs to,
-- so that all of a person's sign-ins can be listed and ended.
CREATE TABLE "broker"."oidc_records" (
    "model" TEXT NOT NULL,
    "id_hash" TEXT NOT NULL,
    "sealed_payload" TEXT NOT NULL,
    "grant_hash" TEXT,
    "user_code_hash" TEXT,
    "uid_hash" TEXT,
    "consumed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "account" TEXT,
    CONSTRAINT "oidc_records_pkey" PRIMARY KEY ("model", "id_hash")
);
CREATE INDEX "oidc_records_grant_hash_idx" ON "broker"."oidc_records" ("grant_hash");
CREATE INDEX "oidc_records_model_user_code_hash_idx" ON "broker"."oidc_records" ("model", "user_code_hash");
CREATE INDEX "oidc_records_model_uid_hash_idx" ON "broker"."oidc_records" ("model", "uid_hash");
CREATE INDEX "oidc_records_expires_at_idx" ON "broker"."oidc_records" ("expires_at");
CREATE INDEX "oidc_records_account_idx" ON "broker"."oidc_records" ("account");

-- People by host and numeric id, with their sealed GitHub tokens.
CREATE TABLE "broker"."users" (
    "host" TEXT NOT NULL,
    "user_id" BIGINT NOT NULL,
    "login" TEXT NOT NULL,
    "sealed_access_token" TEXT NOT NULL,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "sealed_refresh_token" TEXT,
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "groups" TEXT[] NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "users_pkey" PRIMARY KEY ("host", "user_id")
);

-- Short exclusive rights between processes; a holder that died loses its right when the time is over.
CREATE TABLE "broker"."leases" (
    "name" TEXT NOT NULL,
    "holder" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "leases_pkey" PRIMARY KEY ("name")
);

-- Attempts are counted for all replicas together: how often a device polls, how many codes a person has tried.
CREATE TABLE "broker"."attempts" (
    "name" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "attempts_pkey" PRIMARY KEY ("name")
);
CREATE INDEX "attempts_until_idx" ON "broker"."attempts" ("until");

-- Keys that the platform made for itself, sealed. The controllers' are in their own schema, so that the broker's role cannot read them and
-- theirs cannot read the broker's.
CREATE TABLE "broker"."platform_keys" (
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "platform_keys_pkey" PRIMARY KEY ("name")
);
CREATE TABLE "desk"."platform_keys" (
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "platform_keys_pkey" PRIMARY KEY ("name")
);

-- Build logs, kept after the pods that wrote them: the controllers write and delete them, the broker reads them.
CREATE TABLE "builds"."builds" (
    "id" UUID NOT NULL,
    "namespace" TEXT NOT NULL,
    "build_namespace" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "remote_sync" TEXT NOT NULL,
    "remote_sync_uid" TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "cause" TEXT,
    "steps" JSONB NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "left_out" BIGINT NOT NULL DEFAULT 0,
    "stored" BIGINT NOT NULL DEFAULT 0,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "position" JSONB NOT NULL,
    CONSTRAINT "builds_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "builds_ended_with_outcome" CHECK (("ended_at" IS NULL) = ("outcome" IS NULL))
);
CREATE INDEX "builds_namespace_created_at_idx" ON "builds"."builds" ("namespace", "created_at");
CREATE INDEX "builds_remote_sync_uid_idx" ON "builds"."builds" ("remote_sync_uid");
CREATE INDEX "builds_ended_at_idx" ON "builds"."builds" ("ended_at");

CREATE TABLE "builds"."chunks" (
    "build_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "step" TEXT NOT NULL,
    "first_byte" BIGINT NOT NULL,
    "end_byte" BIGINT NOT NULL,
    "content" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "chunks_pkey" PRIMARY KEY ("build_id", "sequence"),
    CONSTRAINT "chunks_build_id_fkey" FOREIGN KEY ("build_id") REFERENCES "builds"."builds" ("id") ON DELETE CASCADE,
    CONSTRAINT "chunks_content_bounded" CHECK (octet_length("content") <= 65536)
);
-- Compressed by the platform already.
ALTER TABLE "builds"."chunks" ALTER COLUMN "content" SET STORAGE EXTERNAL;

-- The images and caches that builds push, so that those that nothing names any more can be deleted from the registry: the controllers only.
-- Those of previews go soon after their preview, and not after a day as others.
CREATE TABLE "builds"."images" (
    "registry" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "tag" TEXT NOT NULL,
    "namespace" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "owner" TEXT,
    "build_id" UUID,
    "digest" TEXT,
    "look_at" TIMESTAMPTZ(3) NOT NULL,
    "unused_since" TIMESTAMPTZ(3),
    "deleting_since" TIMESTAMPTZ(3),
    "preview" BOOLEAN NOT NULL DEFAULT false,
    CONSTRAINT "images_pkey" PRIMARY KEY ("registry", "repository", "tag"),
    CONSTRAINT "images_kind" CHECK ("kind" IN ('Image', 'Cache')),
    CONSTRAINT "images_deleted_when_unused" CHECK ("deleting_since" IS NULL OR "unused_since" IS NOT NULL)
);
CREATE INDEX "images_registry_look_at_idx" ON "builds"."images" ("registry", "look_at");
