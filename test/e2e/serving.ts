// Requests an application through the ingress, once or repeatedly while something else happens.
import { request } from 'undici'

export type Answer = { readonly status: number; readonly text: string }

/** Connects to this machine: names below .localhost are loopback, whatever the resolver answers (RFC 6761 §6.3). */
export async function requestVersion(url: string, path = '/version'): Promise<Answer> {
  const { host, port } = new URL(url)
  const response = await request(`http://127.0.0.1:${port}${path}`, {
    headers: { host },
    headersTimeout: 5000,
    bodyTimeout: 5000,
  })
  return { status: response.statusCode, text: await response.body.text() }
}

export type Watch = { readonly end: () => Promise<{ readonly requests: number; readonly failures: readonly string[] }> }

/** Sends a request four times a second until `end`; every answer other than 200 is a failure. */
export function watchServing(url: string): Watch {
  const failures: string[] = []
  let requests = 0
  let on = true
  const loop = (async () => {
    while (on) {
      requests += 1
      const answer = await requestVersion(url).catch((error: unknown) => ({ status: 0, text: String(error) }))
      if (answer.status !== 200) failures.push(`${new Date().toISOString()} ${answer.status} ${answer.text.slice(0, 100)}`)
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  })()
  return {
    async end() {
      on = false
      await loop
      return { requests, failures }
    },
  }
}
