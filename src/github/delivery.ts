// Webhook deliveries as GitHub lists them, so that what was missed can be found and asked for again.
// Source: https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
import { integerAt, listOf, optionalTextAt, recordOf, textAt } from './transport/answer.ts'

export type Delivery = {
  /** GitHub's is a 64-bit number; one that JavaScript would round is refused, so that no other delivery is asked for again. */
  readonly id: string
  /** Stays the same when GitHub delivers again. */
  readonly guid: string
  readonly event: string
  readonly action: string | undefined
  readonly deliveredAt: Date
  readonly redelivery: boolean
  /** The HTTP status our endpoint answered; 0 when it did not. */
  readonly statusCode: number
}

type Page = { readonly data: unknown; readonly headers: Readonly<Record<string, string | number | undefined>> }

export function deliveryPage(page: Page): { readonly deliveries: readonly Delivery[]; readonly nextCursor: string | undefined } {
  return { deliveries: listOf(page.data, 'deliveries').map(delivery), nextCursor: nextCursor(String(page.headers['link'] ?? '')) }
}

function delivery(value: unknown): Delivery {
  const answer = recordOf(value, 'delivery')
  return {
    id: String(integerAt(answer, 'id', 'delivery')),
    guid: textAt(answer, 'guid', 'delivery'),
    event: textAt(answer, 'event', 'delivery'),
    action: optionalTextAt(answer, 'action', 'delivery'),
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
