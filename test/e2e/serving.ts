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

export type Watch = {
  /** Ends the watch; throws with the failures unless at least `least` requests were sent and each was answered with 200. */
  readonly endServed: (least: number) => Promise<void>
  readonly end: () => Promise<void>
}

/** Sends a request four times a second until its end; every answer other than 200 is a failure. */
export function watchServing(url: string): Watch {
  const failures: string[] = []
  let requests = 0
  let on = true
  const loop = (async () => {
    while (on) {
      requests += 1
      const sent = new Date()
      const answer = await requestVersion(url).catch((error: unknown) => ({ status: 0, text: String(error) }))
      const taken = Date.now() - sent.getTime()
      if (answer.status !== 200)
        failures.push(`${sent.toISOString().slice(11, 23)} ${answer.status} ${answer.text.trim().slice(0, 60)} after ${taken} ms`)
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  })()
  const end = async (): Promise<void> => {
    on = false
    await loop
  }
  return {
    end,
    async endServed(least) {
      await end()
      if (failures.length > 0) throw new Error(`${failures.length} of ${requests} requests failed: ${failures.join(', ')}`)
      if (requests < least) throw new Error(`only ${requests} requests were sent, not the ${least} that show something`)
    },
  }
}
