// Webhook deliveries as GitHub lists them, so that missed ones can be found and redelivered.
// Source: https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
import { integerAt, listOf, recordOf, textAt } from './transport/answer.ts'

/** One attempt to deliver a webhook. */
export type Delivery = {
  /** GitHub's is a 64-bit number; one that JavaScript would round is refused, so that no other delivery is redelivered. */
  readonly id: string
  /** The same for all attempts of one delivery. */
  readonly guid: string
  readonly deliveredAt: Date
  readonly redelivery: boolean
  /** The HTTP status of our answer; 0 when there was none. */
  readonly statusCode: number
}

type Page = { readonly data: unknown; readonly headers: Readonly<Record<string, string | number | undefined>> }

/** Reads one page of the list; throws `upstream_failed` when a field is missing. */
export function deliveryPage(page: Page): { readonly deliveries: readonly Delivery[]; readonly nextCursor: string | undefined } {
  return { deliveries: listOf(page.data, 'deliveries').map(delivery), nextCursor: nextCursor(String(page.headers['link'] ?? '')) }
}

function delivery(value: unknown): Delivery {
  const answer = recordOf(value, 'delivery')
  return {
    id: String(integerAt(answer, 'id', 'delivery')),
    guid: textAt(answer, 'guid', 'delivery'),
    deliveredAt: new Date(textAt(answer, 'delivered_at', 'delivery')),
    redelivery: answer['redelivery'] === true,
    statusCode: Number(answer['status_code'] ?? 0),
  }
}

/** RFC 8288: `<https://…?cursor=v1_123>; rel="next"`. */
function nextCursor(link: string): string | undefined {
  const next = link.split(',').find(part => /;\s*rel="?next"?/.test(part))
  const url = next && /<([^>]+)>/.exec(next)?.[1]
  return url && URL.canParse(url) ? (new URL(url).searchParams.get('cursor') ?? undefined) : undefined
}
