-- Build logs, kept after the pods that wrote them: the controllers write and delete them, the broker reads them.
CREATE SCHEMA IF NOT EXISTS "builds";

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
