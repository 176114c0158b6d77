// The release job: makes the table before the first process that needs it starts. What it makes belongs to the database and not to the login.
import pg from 'pg'

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
await client.query(
  'CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), what text NOT NULL, at timestamptz NOT NULL DEFAULT now())',
)
await client.end()
console.log('release job: the table orders is there')
