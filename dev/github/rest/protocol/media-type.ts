// Owns: which form of an answer the Accept header asks for. Never makes the form itself: the routes that have one do.
// https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types
import { RestError } from './answer.ts'

const forms = ['json', 'raw', 'html', 'object', 'diff', 'patch', 'sha', 'text', 'full'] as const
export type MediaForm = (typeof forms)[number]

const ofVendor = /^application\/vnd\.github(?:\.v3)?(?:\.([a-z]+))?(?:-preview)?(?:\+json)?$/

/** `application/vnd.github.v3.diff`, `application/vnd.github.raw+json`, ...; `undefined` when it is nothing that GitHub knows. */
const formOf = (type: string): MediaForm | undefined => {
  if (['*/*', 'application/*', 'application/json', 'text/html', 'text/*', ''].includes(type)) return 'json'
  const vendor = ofVendor.exec(type)
  if (vendor) return forms.find(one => one === vendor[1]) ?? 'json'
  // Previews that ended long ago are still sent by clients and answered as JSON.
  return /^application\/vnd\.github\.[a-z-]+-preview(?:\+json)?$/.test(type) ? 'json' : undefined
}

/** The form that is asked for; 415 when the header names only types that GitHub has not. */
export const mediaForm = (accept: string | undefined): MediaForm => {
  if (accept === undefined) return 'json'
  const known = accept
    .split(',')
    .map(one => formOf((one.split(';')[0] ?? '').trim().toLowerCase()))
    .filter(one => one !== undefined)
  if (known.length === 0)
    throw new RestError(415, `Unsupported 'Accept' header: '${accept.slice(0, 100)}'. Must accept 'application/json'.`)
  return known.find(one => one !== 'json') ?? 'json'
}

/** The value of the header `x-github-media-type`. */
export const mediaTypeHeader = (form: MediaForm): string => `github.v3; ${form === 'json' ? 'format=json' : `param=${form}`}`
