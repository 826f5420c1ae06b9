// Verifies requests. Standard input: one JSON object a line, {key, headers, body}; standard output: a
// line for each, "good" or "wrong". Keys that begin with whsec_ are for the library, those that begin
// with whpk_ for Node itself.
import crypto from "node:crypto";
import readline from "node:readline";
import { Webhook } from "standardwebhooks";

function verify({ key, headers, body }) {
  const bytes = Buffer.from(body, "base64");
  if (key.startsWith("whsec_")) {
    new Webhook(key).verify(bytes, headers);
    return true;
  }
  const x = Buffer.from(key.slice("whpk_".length), "base64").toString("base64url");
  const half = crypto.createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const start = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
  const signed = Buffer.concat([Buffer.from(start), bytes]);
  return headers["webhook-signature"]
    .split(" ")
    .filter((one) => one.startsWith("v1a,"))
    .some((one) => crypto.verify(null, signed, half, Buffer.from(one.slice(4), "base64")));
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let good = false;
  try {
    good = verify(JSON.parse(line));
  } catch (e) {
    if (e.name !== "Error" && e.constructor.name !== "WebhookVerificationError") throw e;
  }
  console.log(good ? "good" : "wrong");
}
