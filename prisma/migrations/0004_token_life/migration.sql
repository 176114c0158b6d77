-- When the platform revokes a token, where that is before GitHub lets it expire (docs/adr/0095-tokens-of-workloads-live-fifteen-minutes.md).
ALTER TABLE "desk"."tokens" ADD COLUMN "lives_until" TIMESTAMPTZ(3);
