-- Attempts are counted for all replicas together: how often a device polls, how many codes a person has tried.
CREATE TABLE "broker"."attempts" (
  "name" TEXT NOT NULL,
  "count" INTEGER NOT NULL,
  "until" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "attempts_pkey" PRIMARY KEY ("name")
);
CREATE INDEX "attempts_until_idx" ON "broker"."attempts" ("until");
