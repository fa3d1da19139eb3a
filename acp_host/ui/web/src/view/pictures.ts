/** Pictures for the agent, made small enough to be sent. */

/** Pixels of the longer side: more is not looked at by models. */
const LONGEST_SIDE = 2_000;
/** Bytes of a picture that is sent as it is. */
const LARGEST = 1_000_000;
const SENT_AS_IT_IS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * Returns a picture in Base64; one that is large is drawn smaller.
 *
 * @throws Error it cannot be read.
 */
export async function smallEnough(picture: Blob): Promise<string> {
  if (picture.size <= LARGEST && SENT_AS_IT_IS.has(picture.type)) return base64(picture);
  const drawn = await createImageBitmap(picture).catch(() => null);
  if (drawn === null) throw new Error("This picture cannot be read.");
  const scale = Math.min(1, LONGEST_SIDE / Math.max(drawn.width, drawn.height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(drawn.width * scale)), Math.max(1, Math.round(drawn.height * scale)));
  canvas.getContext("2d")!.drawImage(drawn, 0, 0, canvas.width, canvas.height);
  const png = await canvas.convertToBlob({ type: "image/png" });
  return base64(png.size <= LARGEST ? png : await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 }));
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
