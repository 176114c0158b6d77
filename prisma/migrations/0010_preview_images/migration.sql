-- Images of previews go soon after their preview, and not after a day as others.
ALTER TABLE "builds"."images" ADD COLUMN "preview" BOOLEAN NOT NULL DEFAULT false;
