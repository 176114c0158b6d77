// Whether a process of a store answers. Whoever has no key gets an answer, too.
import { get } from 'node:http'
import { get as getEncrypted } from 'node:https'

const milliseconds = 3_000

/** Rejects when nothing answers there, or by another certificate than one of the authority. */
export function answers(url: URL, authority?: string): Promise<true> {
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? getEncrypted : get
    const request = open(
      url,
      { ...(authority !== undefined && { ca: authority }), agent: false, timeout: milliseconds },
      response => {
        response.resume()
        resolve(true)
      },
    )
    request.on('timeout', () => request.destroy(new Error(`${url.host} did not answer within ${milliseconds / 1000} s`)))
    request.on('error', reject)
  })
}
