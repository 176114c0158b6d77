-- The images and caches that builds push, so that those that nothing names any more can be deleted from the registry: the controllers only.
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
  CONSTRAINT "images_pkey" PRIMARY KEY ("registry", "repository", "tag"),
  CONSTRAINT "images_kind" CHECK ("kind" IN ('Image', 'Cache')),
  CONSTRAINT "images_deleted_when_unused" CHECK ("deleting_since" IS NULL OR "unused_since" IS NOT NULL)
);
CREATE INDEX "images_registry_look_at_idx" ON "builds"."images" ("registry", "look_at");
