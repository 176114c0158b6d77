// Where the notes are kept, from the secret DATABASE_URL. The password is never printed.

/** Throws when the variable is missing or is not the URL of a PostgreSQL database. */
export function database() {
  const text = process.env.DATABASE_URL
  if (text === undefined) throw new Error('DATABASE_URL is not set: sekisho secrets set notes DATABASE_URL')
  const url = URL.parse(text)
  if (url?.protocol !== 'postgres:') throw new Error('DATABASE_URL does not begin with postgres://')
  return { host: url.hostname, name: url.pathname.slice(1) }
}
