// How often one address may call a route. The bound over all routes is the web server's.

/** For a route's `config`: at most `max` requests a minute from one address. */
export function perMinute(max: number) {
  return { rateLimit: { max, timeWindow: 60_000 } }
}
