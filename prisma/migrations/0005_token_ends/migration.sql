-- A token is revoked at the API that it was minted at, also after its ClusterGitHubApp is gone; a revocation that fails is retried later and
-- later, and one that waits for the end of a suspension says so.
ALTER TABLE "desk"."tokens" ADD COLUMN "api" TEXT NOT NULL DEFAULT '';
ALTER TABLE "desk"."tokens" ADD COLUMN "attempts" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "desk"."tokens" ADD COLUMN "retry_at" TIMESTAMPTZ(3);
ALTER TABLE "desk"."tokens" ADD COLUMN "suspended" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "tokens_state_expires_at_idx" ON "desk"."tokens" ("state", "expires_at");
-- A token that expired keeps its row for the quota, without its ciphertext.
ALTER TABLE "desk"."tokens" DROP CONSTRAINT "tokens_state_check";
ALTER TABLE "desk"."tokens" ADD CONSTRAINT "tokens_state_check"
  CHECK ("state" IN ('intended', 'minted', 'revoking', 'revoked', 'abandoned', 'expired'));
