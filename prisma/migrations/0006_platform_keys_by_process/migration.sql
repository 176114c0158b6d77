-- The controllers' keys move to their own schema, so that the broker's role cannot read them and theirs cannot read the broker's. They stay
-- sealed as they are: a controllers' process with a keyring of its own needs the former key in it until they are sealed again.
CREATE TABLE "desk"."platform_keys" (
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "platform_keys_pkey" PRIMARY KEY ("name")
);
INSERT INTO "desk"."platform_keys" ("name", "sealed", "created_at")
  SELECT "name", "sealed", "created_at" FROM "broker"."platform_keys"
  WHERE "name" IN ('token-desk-authority', 'source-address', 'registry-credentials');
DELETE FROM "broker"."platform_keys" WHERE "name" IN ('token-desk-authority', 'source-address', 'registry-credentials');
