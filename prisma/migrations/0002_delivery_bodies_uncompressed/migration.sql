-- A delivery's body lives for seconds: compressing it costs more than storing it, and out of line it is not copied when a row is claimed.
ALTER TABLE "broker"."deliveries" ALTER COLUMN "body" SET STORAGE EXTERNAL;
