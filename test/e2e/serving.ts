// Asks an application over the ingress, once or all along while something else happens.
import { request } from 'undici'

export type Answer = { readonly status: number; readonly text: string }

/** Names below .localhost lead to this machine, whatever its resolver says (RFC 6761 §6.3). */
export async function ask(url: string, path = '/version'): Promise<Answer> {
  const { host, port } = new URL(url)
  const response = await request(`http://127.0.0.1:${port}${path}`, {
    headers: { host },
    headersTimeout: 5000,
    bodyTimeout: 5000,
  })
  return { status: response.statusCode, text: await response.body.text() }
}

export type Watch = { readonly end: () => Promise<{ readonly asked: number; readonly failures: readonly string[] }> }

/** Asks four times a second until `end`; every answer but 200 is a failure. */
export function watchServing(url: string): Watch {
  const failures: string[] = []
  let asked = 0
  let on = true
  const loop = (async () => {
    while (on) {
      asked += 1
      const answer = await ask(url).catch((error: unknown) => ({ status: 0, text: String(error) }))
      if (answer.status !== 200) failures.push(`${new Date().toISOString()} ${answer.status} ${answer.text.slice(0, 100)}`)
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  })()
  return {
    async end() {
      on = false
      await loop
      return { asked, failures }
    },
  }
}
