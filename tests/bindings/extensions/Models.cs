// The model of the tests with another chat template.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Inlay;

sealed class OtherTemplate : IDisposable
{
    const string Key = "tokenizer.chat_template";
    const uint String = 8, Array = 9;

    readonly string _path = Path.GetTempFileName();

    internal OtherTemplate(string template)
    {
        byte[] file = File.ReadAllBytes(Given.Model);
        using var reader = new BinaryReader(new MemoryStream(file));
        reader.ReadBytes(8);
        long n_tensors = reader.ReadInt64(), n_keys = reader.ReadInt64();
        long from = 0, to = 0;
        long alignment = 32;
        for (long i = 0; i < n_keys; i++)
        {
            string key = Text(reader);
            uint type = reader.ReadUInt32();
            if (key == Key) from = reader.BaseStream.Position;
            if (key == "general.alignment") alignment = BitConverter.ToUInt32(file, (int)reader.BaseStream.Position);
            Skip(reader, type);
            if (key == Key) to = reader.BaseStream.Position;
        }
        if (from == 0) throw new CheckFailed("the model has no chat template");
        for (long i = 0; i < n_tensors; i++)
        {
            Text(reader);
            reader.ReadBytes((int)reader.ReadUInt32() * 8 + 12);
        }
        long end = reader.BaseStream.Position, data = (end + alignment - 1) / alignment * alignment;
        using var writer = new BinaryWriter(File.Create(_path));
        writer.Write(file, 0, (int)from);
        byte[] text = Encoding.UTF8.GetBytes(template);
        writer.Write((long)text.Length);
        writer.Write(text);
        writer.Write(file, (int)to, (int)(end - to));
        while (writer.BaseStream.Position % alignment != 0) writer.Write((byte)0);
        writer.Write(file, (int)data, (int)(file.Length - data));
    }

    internal Engine Load(int context = 512)
    {
        LoadOptions options = Given.Options;
        options.ContextLength = context;
        return Engine.Load(_path, options);
    }

    static string Text(BinaryReader reader) { return Encoding.UTF8.GetString(reader.ReadBytes((int)reader.ReadInt64())); }

    static void Skip(BinaryReader reader, uint type)
    {
        if (type == String) Text(reader);
        else if (type == Array)
        {
            uint inner = reader.ReadUInt32();
            for (long n = reader.ReadInt64(); n > 0; n--) Skip(reader, inner);
        }
        else reader.ReadBytes(type == 0 || type == 1 || type == 7 ? 1 : type == 2 || type == 3 ? 2 : type >= 10 ? 8 : 4);
    }

    public void Dispose() { File.Delete(_path); }
}
