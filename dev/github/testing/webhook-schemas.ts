// Checks webhook payloads against GitHub's own description (the package @octokit/openapi-webhooks). It never changes the
// description to make a payload fit.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { formats } from './openapi.ts'

export type WebhookDescription = 'ghes-3.19' | 'api.github.com'

export type WebhookCheck = {
  /** The errors of the payload of this event; empty when it fits. An event that GitHub does not have is an error. */
  faults(event: string, payload: Readonly<Record<string, unknown>>): readonly string[]
}

type Described = { readonly components: object; readonly webhooks: Readonly<Record<string, unknown>> }

const maxDetail = 200

/** `pull_request` with the action `ready_for_review` is described as `pull-request-ready-for-review`. */
function nameOf(event: string, action: unknown): string {
  return [event, ...(typeof action === 'string' ? [action] : [])].join('-').replaceAll('_', '-')
}

/** Reads the description on each call, which takes about half a second. */
export function checkWebhooks(description: WebhookDescription): WebhookCheck {
  const file = createRequire(import.meta.url).resolve(`@octokit/openapi-webhooks/generated/${description}.json`)
  const { components, webhooks } = JSON.parse(readFileSync(file, 'utf8')) as Described
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false, validateFormats: true, formats, logger: false })
  ajv.addSchema({ $id: 'webhooks', components, webhooks })
  return {
    faults: (event, payload) => {
      const name = nameOf(event, payload['action'])
      if (!Object.hasOwn(webhooks, name)) return [`${name} is not an event of ${description}`]
      const pointer = `#/webhooks/${name}/post/requestBody/content/application~1json/schema`
      const validate = ajv.getSchema(`webhooks${pointer}`)
      if (!validate) return [`${name} has no schema in ${description}`]
      if (validate(payload) === true) return []
      return (validate.errors ?? []).map(
        one => `${name} ${one.instancePath} ${one.message} ${JSON.stringify(one.params).slice(0, maxDetail)}`,
      )
    },
  }
}
