-- The person whom a record of the OIDC provider belongs to, so that all of a person's sign-ins can be listed and ended. Earlier records name
-- nobody and could not be ended, so they are deleted: everybody signs in to kubectl once more.
ALTER TABLE "broker"."oidc_records" ADD COLUMN "account" TEXT;
DELETE FROM "broker"."oidc_records";
CREATE INDEX "oidc_records_account_idx" ON "broker"."oidc_records" ("account");
