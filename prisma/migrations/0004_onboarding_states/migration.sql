-- A confirmed onboarding has a state of its own, so that what waits for people never hides what can go on; a person's are found by index.
UPDATE "broker"."onboardings" SET "state" = 'confirmed' WHERE "state" = 'proved' AND "data" -> 'intent' ->> 'confirmed' = 'true';
CREATE INDEX "onboardings_host_user_id_idx" ON "broker"."onboardings" ("host", "user_id");
