// Webhook deliveries as GitHub lists them, so that missed ones can be found and redelivered.
// Source: https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
import { AppError } from '../lib/errors.ts'
import { listOf, recordOf, textAt } from './transport/answer.ts'

/** One attempt to deliver a webhook. */
export type Delivery = {
  /** GitHub's is a 64-bit number, which JavaScript may round to the id of another delivery: kept as text. */
  readonly id: string
  /** The same for all attempts of one delivery. */
  readonly guid: string
  readonly deliveredAt: Date
  readonly redelivery: boolean
  /** The HTTP status of our answer; 0 when there was none. */
  readonly statusCode: number
}

/** `body` is the JSON text. */
type Page = { readonly body: string; readonly headers: Readonly<Record<string, string | number | undefined>> }

/** Reads one page of the list; throws `upstream_failed` when a field is missing. */
export function deliveryPage(page: Page): { readonly deliveries: readonly Delivery[]; readonly nextCursor: string | undefined } {
  return {
    deliveries: listOf(parseExactly(page.body), 'deliveries').map(delivery),
    nextCursor: nextCursor(String(page.headers['link'] ?? '')),
  }
}

function delivery(value: unknown): Delivery {
  const answer = recordOf(value, 'delivery')
  return {
    id: idIn(answer['id']),
    guid: textAt(answer, 'guid', 'delivery'),
    deliveredAt: new Date(textAt(answer, 'delivered_at', 'delivery')),
    redelivery: answer['redelivery'] === true,
    statusCode: Number(answer['status_code'] ?? 0),
  }
}

/** JSON in which whole numbers that JavaScript would round are texts of their digits. */
function parseExactly(text: string): unknown {
  try {
    return JSON.parse(text, (_key: string, value: unknown, ...[context]: readonly unknown[]) => {
      if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
      const source = recordOf(context, 'number')['source']
      return typeof source === 'string' && /^[0-9]+$/.test(source) ? source : value
    })
  } catch (cause) {
    throw new AppError('upstream_failed', "GitHub's list of deliveries is not JSON", { cause })
  }
}

function idIn(value: unknown): string {
  const text = String(value)
  if (/^[1-9][0-9]{0,19}$/.test(text)) return text
  throw new AppError('upstream_failed', "GitHub's answer is not understood: delivery.id is not an id")
}

/** RFC 8288: `<https://…?cursor=v1_123>; rel="next"`. */
function nextCursor(link: string): string | undefined {
  const next = link.split(',').find(part => /;\s*rel="?next"?/.test(part))
  const url = next && /<([^>]+)>/.exec(next)?.[1]
  return url && URL.canParse(url) ? (new URL(url).searchParams.get('cursor') ?? undefined) : undefined
}
