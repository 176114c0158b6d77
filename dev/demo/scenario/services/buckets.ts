// A bucket of the tenant's own, applied together with the Application that uses it: what is uploaded is in it, and the store
// refuses the key in the bucket of another tenant.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DemoContext, neighbourNamespace } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun } from '../../tools.ts'
import { joinNeighbour } from '../neighbour.ts'
import { inOrders, urlOfOrders } from './databases.ts'

const neighbourBucket = 'demo-pictures'
/** A picture of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** It runs in acme, with acme's key, and tries a bucket of globex. */
const foreignBucketScript = (bucket: string): string => `
const { S3Client, ListObjectsV2Command } = require('@aws-sdk/client-s3')
new S3Client({ forcePathStyle: true }).send(new ListObjectsV2Command({ Bucket: '${bucket}' }))
  .then(() => console.log('it let us in'), error => console.log(error.name + ' ' + error.$metadata?.httpStatusCode))
`

/** They follow those of the database. */
export function bucketSteps(demo: DemoContext): readonly Step[] {
  const { dave, gary } = demo.people
  return [
    {
      title: 'a picture that is uploaded is in the bucket that was applied with it',
      run: async () => {
        const [address, name] = [`${await urlOfOrders(demo)}/pictures`, `${Date.now()}.png`]
        const file = join(dave.home, 'pixel.png')
        await writeFile(file, pixel)
        const curl = ['--silent', '--show-error', '--fail-with-body', '--max-time', '10']
        await mustRun(dave, 'curl', [...curl, '--upload-file', file, '--header', 'content-type: image/png', `${address}/${name}`])
        const got = await mustRun(dave, 'curl', [
          ...curl,
          '--write-out',
          '%{size_download} %{content_type}',
          '--output',
          '/dev/null',
          `${address}/${name}`,
        ])
        expectThat(got === `${pixel.length} image/png`, `the picture came back as ${got}`)
        return `${address}/${name}`
      },
    },
    {
      title: 'gary has a bucket in globex: the store refuses acme’s key there',
      run: async () => {
        await joinNeighbour(demo)
        const kubectl = (args: readonly string[], input?: string): Promise<string> =>
          mustRun(gary, demo.tools.kubectl, args, input === undefined ? {} : { input })
        const there = ['-n', neighbourNamespace]
        const manifest = { apiVersion: 'services.sekisho.dev/v1alpha1', kind: 'Bucket' }
        const bucket = { ...manifest, metadata: { name: neighbourBucket }, spec: { class: 'bucket', whenDeleted: 'Delete' } }
        await kubectl(['apply', ...there, '-f', '-'], JSON.stringify(bucket))
        await kubectl(['wait', '--for=condition=Ready', `bucket/${neighbourBucket}`, ...there, '--timeout=60s'])
        const made = (await kubectl(['get', `bucket/${neighbourBucket}`, ...there, '-o', 'jsonpath={.status.bucket}'])).trim()
        const said = await inOrders(demo, dave, foreignBucketScript(made))
        expectThat(/AccessDenied 403/.test(said), `the store answered: ${said}`)
        await kubectl(['delete', `bucket/${neighbourBucket}`, ...there])
        return said.trim()
      },
    },
  ]
}
